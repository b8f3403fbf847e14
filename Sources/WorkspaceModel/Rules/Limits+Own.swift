/// Private marks of a member: stars and reminders.
extension Limits {
    /// Stars of one workspace above which a device adds no more: far more than such a list is good
    /// for.
    public static let starsMax = 1_000
    /// Pending or due reminders of one workspace above which a device adds no more: somebody reads
    /// them all.
    public static let remindersMax = 256
    /// The text of a reminder, in bytes of UTF-8: a sentence or two.
    public static let reminderTextBytesMax = 1_024
    /// Stars, or reminders, of one workspace that are read. Devices that are offline can exceed the
    /// limits above; a stolen one can write any number, and must not hold up a turn.
    public static let ownMarksReadMax = 4_096
    /// The delay from which a reminder counts as late: no turn takes as long.
    public static let reminderLateMilliseconds: UInt64 = 60 * 1_000
    /// How long a late reminder still waits: another device may have dismissed it, and links come
    /// up first.
    public static let reminderGraceMilliseconds: UInt64 = 15 * 1_000
    /// A reminder that is later than this is reported as an old event, without a notification: a
    /// device that was linked today must not ring for last year.
    public static let reminderNewsMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
}
