extension Manual {
    /// What help explains besides commands: the word and what it says.
    public static let topics: [(word: String, text: String)] = [
        ("http", http), ("bots", bots), ("coins", coins),
    ]

    private static let http = """
        The control socket also speaks HTTP, for curl and for tools that post to
        webhooks. There is no port and no token: anyone who can open the socket can
        call.

          socket=$(wsx-node socket)
          curl --unix-socket "$socket" -d 'build 42 passed' http://x/hooks/general
          curl --unix-socket "$socket" -N 'http://x/events?types=message.*'
          curl --unix-socket "$socket" http://x/metrics
          curl --unix-socket "$socket" -T plan.pdf 'http://x/files?name=plan.pdf'
          curl --unix-socket "$socket" -r 0-1023 http://x/files/b_01hx9t4c

        POST /hooks/CHANNEL         text, {"text":...}, payload={...}, or what Slack's
                                    webhooks take
        POST /api/chat.postMessage  like Slack's method: JSON or a form
        POST /rpc                   one JSON-RPC call; the status shows what kind of
                                    failure it was
        GET  /events                server-sent events; since, types, channels, name,
                                    ephemeral, keepalive_s in the query, or
                                    Last-Event-ID in the header
        GET  /metrics               what 'wsx-node metrics' prints
        GET  /healthz               200, or 503 with what needs attention;
                                    HEAD gets either without the body
        GET  /files/BLOB            a file, or the bytes that a Range names; parts
                                    that are needed and not here are fetched first;
                                    HEAD does not wait
        PUT  /files?name=NAME       the body becomes a file of any size, and the
                                    answer has the id for 'attachments'; send
                                    Content-Length

        With 'Idempotency-Key: KEY' a repeated post counts once. '?workspace=NAME' acts
        in a workspace other than the selected one. A body has at most 1 MiB, unless it
        is a file.

        """
}
