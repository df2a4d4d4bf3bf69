"""Risk in the population from which a table was sampled.

``minimal``     minimal sample uniques: the smallest sets of columns in which a record is like no other
``suda``        `suda`: their scores, by record and by column
``classes``     population uniques from the sizes of classes: Pitman, Zayatz, slide negative binomial
``rule``        which of these to believe: the decision rule of Dankar and others
``loglinear``   population uniques among the sample's, from a Poisson model of the columns
``figures``     what is known in the end: `PopulationRisk`
``sample``      all of them for one table
``front``       `population_risk`: the door
"""

from voronym.evaluate.population.figures import Matches, PopulationFigures, PopulationRisk
from voronym.evaluate.population.front import population_risk
from voronym.evaluate.population.suda import Suda, suda

__all__ = ["Matches", "PopulationFigures", "PopulationRisk", "Suda", "population_risk", "suda"]
