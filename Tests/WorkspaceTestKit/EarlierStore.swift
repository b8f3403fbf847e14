/// SQL that converts a store to an earlier schema.
public enum EarlierStore {
    /// Of schema 15: what is counted stands in `counter` alone, and logs have an index more.
    public static let schema15 = """
        INSERT OR REPLACE INTO counter
            SELECT name, max(inLogs, ifnull((SELECT value FROM counter WHERE name = l.name), 0))
            FROM (SELECT 'arrival' AS name, ifnull(max(arrivals), 0) AS inLogs FROM log
                UNION ALL SELECT 'event', ifnull(max(events), 0) FROM log
                UNION ALL SELECT 'commit', ifnull(max(commits), 0) FROM log) AS l;
        ALTER TABLE log DROP COLUMN arrivals;
        ALTER TABLE log DROP COLUMN events;
        ALTER TABLE log DROP COLUMN commits;
        CREATE INDEX log_changed ON log(changed);
        """
}
