"""Costs per cell that give the cells their prescribed sizes."""
