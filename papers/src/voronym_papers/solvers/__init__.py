"""Algorithms of the papers, kept for comparison; importing them registers those that users can name.

``levenberg_marquardt``  the cost solver ``"levenberg-marquardt"``; its loops are in ``kernels``
``noisy``                the method ``"noisy-pcl"``
``steepest``             the method ``"steepest"`` of `voronym.channel.privacy_distortion`
``blahut_arimoto``       Shannon's rate-distortion function
``reconstruct``          rules that publish letters of their own
"""

from voronym_papers.solvers import noisy, steepest  # noqa: F401 - importing registers
from voronym_papers.solvers.blahut_arimoto import blahut_arimoto
from voronym_papers.solvers.levenberg_marquardt import levenberg_marquardt
from voronym_papers.solvers.reconstruct import Reconstructed, reconstruct, reconstruction

__all__ = ["Reconstructed", "blahut_arimoto", "levenberg_marquardt", "reconstruct", "reconstruction"]
