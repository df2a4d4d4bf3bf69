"""Risk in the population from which a table was sampled.

``minimal``     minimal sample uniques: the smallest sets of columns in which a record is unique
``suda``        `suda`: their scores, by record and by column
``classes``     population uniques from the sizes of classes: Pitman, Zayatz, slide negative binomial
``rule``        the choice among these models: the decision rule of Dankar and others
``loglinear``   population uniques among the sample's, from a Poisson model of the columns
``figures``     the result: `PopulationRisk`
``sample``      all models for one table
``front``       `population_risk`: the entry point
"""

from voronym.evaluate.population.figures import Matches, PopulationFigures, PopulationRisk
from voronym.evaluate.population.front import population_risk
from voronym.evaluate.population.suda import Suda, suda

__all__ = ["Matches", "PopulationFigures", "PopulationRisk", "Suda", "population_risk", "suda"]
