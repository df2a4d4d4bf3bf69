"""Risk in the population that a table is a sample of.

``suda``        records that few columns suffice to single out: minimal sample uniques and their scores
``individual``  how likely each record is a correct match, from sampling weights
``classes``     population uniques from the sizes of classes: Pitman, Zayatz, slide negative binomial
``rule``        which of these to believe: the decision rule of Dankar and others
``loglinear``   population uniques among the sample's, from a Poisson model of the columns
``front``       `population_risk`: all of them for one table
"""

from voronym.evaluate.population.suda import Suda, suda

__all__ = ["Suda", "suda"]
