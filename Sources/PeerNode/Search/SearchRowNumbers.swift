/// How messages are numbered in the tables of the index.
///
/// The number of a table is the arrival number of its messages without the last `partBits` bits;
/// the number of a row is the time of its message, in milliseconds above 16 bits of its arrival
/// number. So descending numbers of a table are its newest messages first.
struct SearchRowNumbers {
    /// At most 16.
    let partBits: Int64

    private var mask: Int64 { (1 << partBits) - 1 }

    /// The table in which an operation is.
    func part(of arrival: Int64) -> Int64 { arrival >> partBits }

    func row(_ position: SearchPosition) -> Int64 {
        position.time << 16 | position.arrival & mask
    }

    func position(_ row: Int64, in part: Int64) -> SearchPosition {
        SearchPosition(time: row >> 16, arrival: part << partBits | row & mask)
    }

    /// The rows of a table that a question is about, from the first to the last; none where the
    /// first is larger.
    func rows(of question: SearchQuestion, in part: Int64) -> (first: Int64, last: Int64) {
        let last = question.until << 16 | mask
        let before = question.before.map { self.last(before: $0, in: part) }
        return (question.since << 16, min(last, before ?? last))
    }

    /// The newest number that a row of a table before `position` can have.
    private func last(before position: SearchPosition, in part: Int64) -> Int64 {
        let time = position.time << 16
        let own = self.part(of: position.arrival)
        if part < own { return time | mask }
        return part > own ? time - 1 : (time | position.arrival & mask) - 1
    }
}
