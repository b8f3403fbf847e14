import WorkspaceModel

extension Command {
    /// Output generated from the table of commands, besides help.
    static let pageCommands = [completion, man]

    private static let completion = Command(
        "completion",
        line: CommandLineForm(
            "completion", ["shell"],
            examples: [
                "completion bash > ~/.local/share/bash-completion/completions/wsx-node",
                "completion zsh > ~/.zfunc/_wsx-node",
                "completion fish > ~/.config/fish/completions/wsx-node.fish",
            ], flow: .completion),
        "Print a script that lets your shell complete commands and names.",
        parameters: [Parameter.choice("shell", "Which shell.", ["bash", "zsh", "fish"])],
        result: "text", effect: .reads, scope: .node, example: ["shell": "bash"], needs: .nothing)

    private static let man = Command(
        "man",
        line: CommandLineForm("man", examples: ["man > wsx-node.1"], flow: .man),
        "Print the manual page, in the macros of man(7).", result: "text", effect: .reads,
        scope: .node, needs: .nothing)
}
