"""What a plug-in needs: the options of a method, declared once, with the checks of their values."""

from voronym.core.options import Options, by_column, columns, number, one_of, option, whole

__all__ = ["Options", "by_column", "columns", "number", "one_of", "option", "whole"]
