"""Figures of the two papers, typed in with their place.

Most figures are drawn without numbers; only the numbers in the text or the caption are known. Changes are of
the distortion against MDAV, in percent; negative is better.
"""

from __future__ import annotations

FIRST = (
    "D. Rebollo-Monedero, J. Forné, M. Soriano: An algorithm for k-anonymous microaggregation and clustering "
    "inspired by the design of distortion-optimized quantizers, Data & Knowledge Engineering 70 (2011)"
)
SECOND = (
    "D. Rebollo-Monedero, J. Forné, E. Pallarès, J. Parra-Arnau: A modification of the Lloyd algorithm for "
    "k-anonymous quantization, Information Sciences 222 (2013)"
)

# 2013, section 7.1: 65,536 points, 16 cells; correlation -> change against MDAV. "Roughly 44 s" each.
FIGURE_3 = {0.0: -16.0, 0.5: -11.0}
FIGURE_3_SECONDS = 44.0
# 2013, section 7.1: "a potential distortion reduction over MDAV of up to 19 %".
FIGURE_4_BEST = -19.0
# 2013, section 7.1: exponents of the regression of time on n, in 2 dimensions.
FIGURE_6 = {"MDAV": 1.98, "PCL": 1.87}
# 2013, section 7.1: the same in 10 dimensions.
FIGURE_6_TEN = {"MDAV": 2.00, "PCL": 1.91}
# 2013, section 7.2: "at least a 22 % reduction in distortion for the largest values of k, and up to a 32 %
# reduction for the intermediate value k = 2000"; from 26 s, for the largest k, to 5 min 25 s.
FIGURE_7: dict[int, float] = {2000: -32.0}
FIGURE_7_LEAST = -22.0
FIGURE_7_SECONDS: dict[int, float] = {500: 325.0, 4000: 26.0}
# 2013, section 7.2: least, greatest, mean and standard deviation of the columns.
ADULT = {
    "age": (17.0, 90.0, 38.6, 13.7),
    "education": (1.0, 16.0, 10.1, 2.57),
    "hours a week": (1.0, 99.0, 40.4, 12.4),
}
# 2013, section 7.2: against V-MDAV, "a distortion reduction ranging from 21 % to 31 %".
FIGURE_8 = (-31.0, -21.0)

# 2011, captions of figures 9 and 10: k -> distortion of MDAV, of PCL, change. Figure 9 has the change only.
FIGURES_9_10: dict[int, tuple[float | None, float | None, float]] = {
    2: (None, None, -42.0),
    3: (0.0332, 0.0189, -43.0),
}
# 2011, section 5.2 and captions: the best change over all cell counts.
FIGURE_11_BEST, FIGURE_13_BEST, FIGURE_15_BEST, FIGURE_17_BEST = -35.0, -20.0, -29.0, -25.0
# Figure 12: printed under the picture are 0.0128 and -30 %; the caption says 39 %.
FIGURE_12: tuple[float | None, float | None, float] = (None, 0.0128, -30.0)
FIGURE_14: tuple[float | None, float | None, float] = (None, None, -15.0)
FIGURE_16: tuple[float | None, float | None, float] = (0.00079, 0.000585, -26.0)
FIGURE_18: tuple[float | None, float | None, float] = (0.0359, None, -26.0)

# 2011, table 1: k -> distortion of MDAV, milliseconds.
TABLE_1 = {
    5: (0.0909, 120.0),
    10: (0.142, 61.2),
    25: (0.214, 25.7),
    50: (0.290, 13.4),
    75: (0.350, 9.44),
    100: (0.397, 7.58),
}
# 2011, table 2: k and size of prepartitions -> smallest cell, distortion of noisy PCL, change, time,
# iterations. Best of 5 starts.
TABLE_2: dict[tuple[int, int | None], tuple[int, float, float, str, int]] = {
    (5, 360): (5, 0.0796, -12.4, "16:15", 150),
    (10, 540): (10, 0.122, -13.7, "08:53", 130),
    (25, 540): (25, 0.192, -10.1, "01:38", 110),
    (25, None): (25, 0.182, -14.9, "05:36", 110),
    (50, None): (51, 0.247, -14.8, "01:22", 90),
    (75, None): (76, 0.290, -17.3, "00:37", 70),
    (100, None): (107, 0.331, -16.8, "00:16", 50),
}
# 2011, section 5.3: "improvements ranged approximately between 9 % and 17 %".
FIGURE_19 = (-17.0, -9.0)
# 2011, section 6: "typically ... 27 % and 15 % for microaggregation of uniform and Gaussian data".
FIGURE_15_TYPICAL, FIGURE_17_TYPICAL = -27.0, -15.0
# 2011, section 6: "typically 20 % and 15 % for clustering of uniform and Gaussian data".
FIGURE_11_TYPICAL, FIGURE_13_TYPICAL = -20.0, -15.0
