extension Manual {
    /// Every type of event that can be asked for: what is recorded, what is made of that for each
    /// reader, and what is only heard while it happens, such as `typing`.
    public static let events: [String] = EventType.names
}
