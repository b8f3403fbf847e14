/// What people keep for themselves: stars and reminders.
extension Limits {
    /// Messages of one workspace that somebody may have starred on a device when one more is: far more
    /// than a list to come back to is good for.
    public static let starsMax = 1_000
    /// Reminders of one workspace that may wait, or be due, when the device that made them makes one
    /// more: somebody reads them all.
    public static let remindersMax = 256
    /// What to be reminded of, in bytes of UTF-8: a sentence or two.
    public static let reminderTextBytesMax = 1_024
    /// Stars, or reminders, of one workspace that are looked at. Devices that are apart make more
    /// than may be; a stolen one makes any number, and must not hold up a turn.
    public static let ownMarksReadMax = 4_096
    /// How late a reminder is that nobody was there for: a turn is not as long.
    public static let reminderLateMilliseconds: UInt64 = 60 * 1_000
    /// How long such a one waits after all: another device may have dismissed it, and links come up
    /// first.
    public static let reminderGraceMilliseconds: UInt64 = 15 * 1_000
    /// A reminder that is later than this is told as an old event, and by no notice: a device that
    /// was linked today need not ring for last year.
    public static let reminderNewsMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
}
