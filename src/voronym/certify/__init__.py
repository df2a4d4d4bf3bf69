"""Bounds and optimality: how little any k-anonymous partition of these records can lose."""
