#!/usr/bin/env python
"""Django's command line; the same as `ullage-inspector`."""

from inspector.management.cli import main

if __name__ == "__main__":
    main()
