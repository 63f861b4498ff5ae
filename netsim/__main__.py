"""`python -m netsim`: the command line."""

import sys

from netsim.cli import main

sys.exit(main())
