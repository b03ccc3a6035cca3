"""For any WSGI server started in a site's folder: `gunicorn -c config/gunicorn.conf.py wsgi:app`."""

from cmsmcp.app import from_folder

app = from_folder()
