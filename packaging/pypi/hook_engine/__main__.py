"""`python -m hook_engine`."""

import sys

from . import main

sys.exit(main())
