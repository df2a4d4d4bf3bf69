"""The public names of voronym-location; importing them loads the pure part, without server and database."""

from voronym_location.checking import check
from voronym_location.epochs import Epoch, Figures, Standing, plan
from voronym_location.population import Population
from voronym_location.rules import Settings

__all__ = ["Epoch", "Figures", "Population", "Settings", "Standing", "check", "plan"]
