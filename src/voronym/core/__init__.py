"""The base of every package: registries, options, contexts, argument checks, atomic files."""
