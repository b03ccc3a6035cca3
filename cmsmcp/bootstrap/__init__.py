"""Which adapter stands behind which port: the one room that knows. One module per door, and what they share.

Everything a stdio server does not need for its first reply is imported and made when it is first asked for.
"""
