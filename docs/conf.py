"""Sphinx settings. `make docs` builds with warnings as errors."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "voronym"
copyright = "the voronym authors"
release = version = installed("voronym")

extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "methods_table",
    "verb_options",
    "registry_tables",
    "pictures",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = "voronym"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_js_files = ["accessible.js"]
html_show_sphinx = False
html_copy_source = False

myst_enable_extensions = ["deflist", "colon_fence"]
copybutton_prompt_text = "$ "  # what is typed, without the prompt and without what is printed
copybutton_only_copy_prompt_lines = True
myst_heading_anchors = 3

default_role = "py:obj"  # `name` in a docstring links where there is something to link to
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the numpydoc sections state the types, in words people use
napoleon_google_docstring = False
napoleon_use_param = False  # "keys, confidential : sequences of str" stays one entry
napoleon_use_rtype = False
