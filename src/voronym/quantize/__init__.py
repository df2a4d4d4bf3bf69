"""Probability-constrained quantization: cells of prescribed sizes, each with one additive cost."""
