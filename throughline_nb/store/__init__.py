"""What is on disk: home, projects in git, chats. Knows no host."""
