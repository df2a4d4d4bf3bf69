"""Work on a GPU: `device` finds one and compiles, `near` makes lists, `mdav` and `pairs` use them.

voronym works without a GPU, and imports CuPy only when a GPU is requested. The kernels are in the .cu files
next to the Python code; near.cu is shared.
"""
