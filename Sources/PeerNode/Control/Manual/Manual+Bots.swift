extension Manual {
    /// What `help bots` says.
    static let bots = """
        A bot is a shell command that runs once for each event, one event at a time:

          wsx-node events --as uptime-bot --type message.created --exec '
            [ "$WSX_TEXT" = "!uptime" ] || exit 0
            uptime -p | wsx-node send "$WSX_CHANNEL" --thread "$WSX_MESSAGE" \\
              --key "uptime-$WSX_MESSAGE" - || [ $? -eq 6 ]'

        It gets the event as one line of JSON on standard input, and these variables in
        its environment: WSX_EVENT_TYPE, WSX_CURSOR, WSX_CHANNEL, WSX_MESSAGE and
        WSX_TEXT, empty where the event has none. WSX_NODE_SOCKET, WSX_NODE_HOME and
        WSX_NODE_WORKSPACE point 'wsx-node' to the node and the workspace of the event.

        What others wrote is text. Put it in quotes, and never let the shell evaluate
        it. In variables, control characters are made visible, as \\u{1b}. The text as
        it was written is .data.text of the event on standard input, for programs and
        not for a terminal. Print it with printf, because echo may turn backslashes into
        control characters, and put -- before it where it is an argument of its own:

          printf '%s\\n' "$WSX_TEXT"
          notify-send -- "$WSX_EVENT_TYPE" "$WSX_TEXT"

        exit status 0   done; the node saves the position under the name given with
                        --as
        75              not now: tried again after 1 s, 2 s, and so on up to 60 s, until
                        it is done
        any other       five tries, then a warning on standard error and as the event
                        node.warning, and on to the next event; a try counts only while
                        the node is running and unlocked

        After a bot or a node is killed or restarted, it continues with the first event
        that was not done. An event that was done just before that may come once more,
        so give answers a --key. If the second answer differs from the first, as with
        uptime, 'send' exits with 6 (key_reused). The first one was sent, so the line
        above treats that as done. Without that, the event would be tried five times.

        A new name starts with new events; --since starts over, at every start. Events
        of a first sync (backfill) are skipped, so that nobody gets an answer to what
        they wrote last year; --backfill includes them. Messages from programs are
        skipped too, so that two bots do not answer each other endlessly: what comes
        through a hook, what 'send --bot' sends, and what a bot itself sends, because
        WSX_BOT is in its environment. --bots includes them. Your own messages are
        included: the event says "self":true. To follow events without a shell, see
        events.wait and events.ack in OPERATIONS.md.

        """
}
