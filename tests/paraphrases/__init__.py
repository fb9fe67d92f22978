"""Measure how much of what people say in their own words is understood."""
