import PeerNode
import WorkspaceModel

/// What `completion` prints: a stub that asks the program itself, by a word that help does not
/// show.
enum CompletionScript {
    /// The hidden command that the stubs call.
    static let word = "__complete"

    static func text(for shell: String) -> String {
        switch shell {
        case "zsh": zsh
        case "fish": fish
        default: bash
        }
    }

    private static let bash = """
        # Completion of wsx-node for bash. Made by 'wsx-node completion bash'.
        _wsx_node() {
            local line=${COMP_LINE:0:COMP_POINT}
            mapfile -t COMPREPLY < <(wsx-node __complete bash "$line" "$2" 2>/dev/null)
        }
        complete -o bashdefault -o default -F _wsx_node wsx-node

        """

    private static let zsh = """
        #compdef wsx-node
        # Completion of wsx-node for zsh. Made by 'wsx-node completion zsh'.
        _wsx_node() {
            local -a lines found
            lines=("${(@f)$(wsx-node __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
            local line
            for line in $lines; do
                found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
            done
            if (( $#found )); then
                _describe 'wsx-node' found
            else
                _files
            fi
        }
        if [[ $funcstack[1] == _wsx_node || $funcstack[1] == _wsx-node ]]; then
            _wsx_node "$@"
        else
            compdef _wsx_node wsx-node
        fi

        """

    private static let fish = """
        # Completion of wsx-node for fish. Made by 'wsx-node completion fish'.
        function __wsx_node_complete
            set -l before (commandline -opc)
            set -e before[1]
            set -l found (wsx-node __complete fish $before (commandline -ct) 2>/dev/null)
            if test (count $found) -gt 0
                printf '%s\\n' $found
            else
                __fish_complete_path (commandline -ct)
            end
        end
        complete -c wsx-node -f -a '(__wsx_node_complete)'

        """
}

extension Program {
    /// The hidden command: the shell, and what stands on the line so far.
    ///
    /// Whatever goes wrong, nothing is printed: somebody is typing.
    static func complete(
        _ arguments: [String], environment: [String: String], io: any ProgramIO
    ) -> Int32 {
        guard let shell = arguments.first else { return 0 }
        var words = Array(arguments.dropFirst())
        var line: CompletionLine?
        var part = ""
        if shell == "bash" {
            guard words.count == 2 else { return 0 }
            let read = CompletionLine(words[0])
            part = words[1]
            line = read
            words = read.words.dropFirst() + [read.current]
        }
        let current = words.popLast() ?? ""
        let globals = Completion(words, Command.all) { _ in [] }.globals
        let completion = Completion(words, Command.all) { what in
            names(what, globals, environment, io)
        }
        for candidate in completion.candidates(for: current) {
            let word = line?.replacement(of: part, by: candidate.word) ?? candidate.word
            io.print(shell == "bash" ? word + "\n" : word + "\t" + candidate.summary + "\n")
        }
        return 0
    }

    private static func names(
        _ what: Completion.Names, _ globals: [String: String], _ environment: [String: String],
        _ io: any ProgramIO
    ) -> [Completion.Candidate] {
        let paths = try? Paths(
            home: globals["--home"], socket: globals["--socket"], environment: environment, io: io)
        guard let paths else { return [] }
        let variable = environment["WSX_NODE_WORKSPACE"].flatMap { $0.isEmpty ? nil : $0 }
        return CompletionNames(
            io: io, socket: paths.socket, workspace: globals["--workspace"] ?? variable
        ).list(what)
    }
}
