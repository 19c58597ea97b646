"""Deployments in small, each run by a command."""
