"""The web app: access, pages, and the server that it runs in."""
