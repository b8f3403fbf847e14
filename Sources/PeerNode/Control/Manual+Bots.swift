extension Manual {
    /// What `help bots` says.
    static let bots = """
        A bot is a command of the shell that runs once for each event, one after the
        other:

          wsx-node events --as uptime-bot --type message.created --exec '
            [ "$WSX_TEXT" = "!uptime" ] || exit 0
            uptime -p | wsx-node send "$WSX_CHANNEL" --thread "$WSX_MESSAGE" \\
              --key "uptime-$WSX_MESSAGE" - || [ $? -eq 6 ]'

        It finds the event as one line of JSON on standard input, and in its environment
        WSX_EVENT_TYPE, WSX_CURSOR, WSX_CHANNEL, WSX_MESSAGE and WSX_TEXT, empty where
        the event has none. WSX_NODE_SOCKET, WSX_NODE_HOME and WSX_NODE_WORKSPACE lead
        'wsx-node' back to the node and the workspace of the event.

        What others wrote is text. Put it in quotes, and never let the shell evaluate
        it. In variables control characters are made visible, as \\u{1b}; the text as it
        was written is .data.text of the event on standard input, for programs and not
        for a terminal. Show it by printf, since echo may make control characters of
        backslashes, and put -- before it where it is an argument of its own:

          printf '%s\\n' "$WSX_TEXT"
          notify-send -- "$WSX_EVENT_TYPE" "$WSX_TEXT"

        exit status 0   done; the node keeps the position under the name given with
                        --as
        75              not now: again after 1 s, 2 s, and so on up to 60 s, until it is
                        done
        any other       five tries, then a warning on standard error and as the event
                        node.warning, and on to the next event; a try counts only while
                        the node is there and open

        A bot or a node that is killed or restarted goes on with the first event that
        was not done. What was done just before a bot was killed may come once more, so
        give answers a --key. An answer that reads otherwise the second time, as the
        uptime does, then ends 'send' with 6 (key_reused): the first one was sent, so
        the line above takes that for done. Without it the event is tried five times.

        A new name starts with what happens from now on; --since starts over, at every
        start. Events of a first sync (backfill) are passed over, so that nobody is
        answered who wrote last year; --backfill gives them too. Messages of programs
        are passed over too, so that no two bots answer each other for ever: what came
        by a hook, what 'send --bot' sends, and what a bot itself sends, which finds
        WSX_BOT in its environment. --bots gives them. One's own messages come as well:
        the event says "self":true. To follow without a shell, see events.wait and
        events.ack in OPERATIONS.md.

        """
}
