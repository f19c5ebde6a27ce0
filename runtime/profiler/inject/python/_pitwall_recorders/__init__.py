"""One module a framework, with record(module, library): called in the program when it has imported the framework."""
