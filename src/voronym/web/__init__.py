"""The local page: the same engine with forms and pictures.

``serve``      `serve`: the server on 127.0.0.1, its address, and its end
``app``        the routes: ``tables`` and ``runs`` answer them, ``screens`` fills the templates
``forms``      convert form fields to settings
``guard``      the permitted requests: host, token, cookie, origin
``headers``    the headers of every answer, and requests of other sites; location's pages share it
``intake``     uploads: limits on bytes, on unpacked bytes and on columns; names are never paths
``desk``       the open tables with their settings and runs; one run works, three wait
``process``    the server's side of a worker process; ``worker`` is the process
``bench``      a worker's tasks on its table: read, count, sketch, run; all of them call the library
``settings``   the choices: as arguments of `voronym.anonymize`, and as the equivalent command line
``shown``      the result screen of a release; ``draw``: the picture of risk against loss

This package has no logic of anonymization: the command line makes the same release from the same recipe.
"""
