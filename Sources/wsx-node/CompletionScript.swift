import PeerNode
import WorkspaceModel

/// The output of `completion`: a stub that calls the program with a hidden command.
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

    /// The exit status of the hidden command if the shell should complete file names.
    static let takesPath: Int32 = 10

    private static let bash = """
        # Completion of wsx-node for bash. Made by 'wsx-node completion bash'.
        _wsx_node() {
            local line=${COMP_LINE:0:COMP_POINT} found
            COMPREPLY=()
            found=$(wsx-node __complete bash "$line" "$2" 2>/dev/null)
            if (( $? == 10 )); then
                compopt -o default -o bashdefault 2>/dev/null
            elif [[ $found ]]; then
                mapfile -t COMPREPLY <<<"$found"
            fi
        }
        complete -F _wsx_node wsx-node

        """

    private static let zsh = """
        #compdef wsx-node
        # Completion of wsx-node for zsh. Made by 'wsx-node completion zsh'.
        _wsx_node() {
            local text line
            local -a found
            text=$(wsx-node __complete zsh "${(@)words[2,CURRENT-1]}" "$QIPREFIX$PREFIX" \
                2>/dev/null)
            if (( $? == 10 )); then
                _files
                return
            fi
            for line in "${(@f)text}"; do
                [[ -n $line ]] || continue
                if [[ -n ${line#*$'\t'} ]]; then
                    found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
                else
                    found+=("${${line%%$'\t'*}//:/\\:}")
                fi
            done
            (( $#found )) && _describe 'wsx-node' found
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
            if test $status -eq 10
                __fish_complete_path (commandline -ct)
            else if test (count $found) -gt 0
                printf '%s\\n' $found
            end
        end
        complete -c wsx-node -f -a '(__wsx_node_complete)'

        """
}

extension Program {
    /// The hidden command: the shell, and the line so far.
    ///
    /// On any failure it prints nothing: the user is typing.
    ///
    /// - Returns: 0, or `CompletionScript.takesPath`.
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
        } else if shell == "zsh" {
            words = words.map(CompletionLine.unquoted)
        } else if let last = words.popLast() {
            // Fish splits the words before the cursor itself.
            words.append(CompletionLine.unquoted(last))
        }
        let current = words.popLast() ?? ""
        let globals = Completion(words, Command.all) { _ in [] }.globals
        let completion = Completion(words, Command.all) { what in
            names(what, globals, environment, io)
        }
        for candidate in completion.candidates(for: current) {
            guard let line else {
                io.print(candidate.word + "\t" + candidate.summary + "\n")
                continue
            }
            guard let word = line.replacement(of: part, by: candidate.word) else { continue }
            io.print(word + "\n")
        }
        return completion.takesPath(current) ? CompletionScript.takesPath : 0
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
