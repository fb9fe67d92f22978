"""The state store: values by scope, who wrote them, and everything that is decided from them."""
