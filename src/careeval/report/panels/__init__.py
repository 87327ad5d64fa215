"""The tables and cards of the report and the site, each made once."""
