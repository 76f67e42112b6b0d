"""What happens on a turn, the same for every host: preprocessor, commands, tools."""
