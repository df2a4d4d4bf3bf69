"""The figures of Rebollo-Monedero, Forné and Domingo-Ferrer 2010, which are drawn without numbers."""

from __future__ import annotations

REFERENCE = (
    "D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer: From t-closeness-like privacy to "
    "postrandomization via information theory, IEEE Transactions on Knowledge and Data Engineering (2010)"
)
# Section 6.1: correlation, multipliers and the distortions that belong to them.
RHO = 0.95
MULTIPLIERS = {0.72: 0.25, 1.22: 0.5, 1.72: 0.75}
# Section 6.1: steps for each multiplier, steps a second on a computer of 2008.
STEPS, STEPS_A_SECOND = 32_000, 150
# Section 6.1, read off figure 6: the risk at d = 0.5, and I(W; X).
RISK_AT_HALF, INFORMATION = 0.3, 1.2
# Section 6.1: points of the grids of figures 6 and 7, and where they end.
POINTS, FINE, REACH = 31, 51, 3.0
# Section 6.2: records, and the width of the intervals of W and of X̂.
RECORDS, WIDTH = 2**15, 0.15
