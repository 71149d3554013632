"""The documentation site: `make docs` builds it into target/site."""

import re

import goc

project = "goc"
author = "the goc authors"
copyright = "the goc authors; MIT or Apache-2.0"
release = version = goc.__version__

extensions = [
    "myst_nb",  # Markdown, and pages whose code runs while the site is built
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx-mathjax-offline",  # equations without a foreign server
]

html_theme = "furo"
html_title = f"goc {release}"
html_static_path = ["_static"]
html_css_files = ["goc.css"]
html_js_files = ["search.js"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"sidebar_hide_name": False}

root_doc = "index"
exclude_patterns = ["_build", "requirements.txt"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
# Words such as `--flag` are not to become dashes.
smartquotes = False

# Notebooks: run while the site is built, and an error in one of them is an error of the site.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_execution_in_temp = True

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
templates_path = ["_templates"]


def escape(app, what, name, obj, options, lines):
    """Attributes that end with an underscore are named within types, where Sphinx would take them
    for links.
    """
    lines[:] = [re.sub(r"(?<![\w`*.])(\w+_)(?![\w`*])", lambda found: found[1][:-1] + r"\_", line) if ">>>" not in line else line for line in lines]


def setup(app):
    # After numpydoc, which has 500.
    app.connect("autodoc-process-docstring", escape, priority=600)
