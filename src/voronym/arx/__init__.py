"""Import projects of ARX: a project file becomes a recipe and hierarchies.

``archive``    read texts and XML from the untrusted zip ``.deid``
``project``    read columns, hierarchies and criteria of a project
``translate``  make a recipe, and list the settings without a counterpart
"""

from voronym.arx.project import Project, read_project
from voronym.arx.translate import Imported, import_project

__all__ = ["Imported", "Project", "import_project", "read_project"]
