"""The privacy-distortion function, and the randomised rules that reach it."""
