"""Work on a GPU: `device` finds one and compiles, `near` makes lists, `mdav` and `pairs` use them.

Nothing here is needed without a GPU, and nothing here imports CuPy before it is asked for. The kernels are in
the .cu files next to the host code; near.cu is shared.
"""
