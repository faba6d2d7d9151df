import StrataModel

/// The notification that standbys have an entry (docs/replication-internals.md §7).
///
/// Every role that may connect to the database can send one. So it wakes a reader, but counts only if the entry with
/// the number has the ID: a role that may not read the entries learns IDs only of entries that were announced.
struct Announcement {
    let number: UInt64
    /// Nil if a process of an earlier release sent it, which confirms nothing.
    let id: Identifier?

    init(number: UInt64, id: Identifier) { (self.number, self.id) = (number, id) }

    /// Returns nil for a text that is no announcement.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count <= 2, let number = UInt64(words[0]) else { return nil }
        self.number = number
        id = words.count == 2 ? Identifier(hexadecimal: words[1]) : nil
        if words.count == 2, id == nil { return nil }
    }

    /// The text of the notification, and that of the one that processes of an earlier release understand.
    var texts: [String] { [id.map { "\(number) \($0)" } ?? "\(number)", "\(number)"] }
}

/// The announcements that came for entries which were not read yet.
struct Announcements {
    /// Others may send announcements without end, so only the last ones are kept.
    static let maximumCount = 1_024

    private var server: String?
    private var kept: [Announcement] = []
    var count: Int { kept.count }

    /// Adds what the notifications of a server say; returns true if one names an entry after `number`, or if
    /// more came than were looked at.
    mutating func add(_ texts: [String], of server: String?, after number: UInt64) -> Bool {
        // IMPORTANT: what another server's standbys have may be lost here, after a fail-over.
        if self.server != server { (self.server, kept) = (server, []) }
        let news = texts.compactMap { Announcement($0) }.filter { $0.number > number }
        kept += news.filter { $0.id != nil }
        kept.removeFirst(max(0, kept.count - Self.maximumCount))
        return !news.isEmpty || texts.count >= Self.maximumCount
    }

    /// Returns the number of the last entry, of those with these IDs after `number`, that was announced; nil if none
    /// was. Drops the announcements of all entries up to these.
    mutating func lastAnnounced(of ids: [Identifier], after number: UInt64) -> UInt64? {
        var last: UInt64?
        kept.removeAll { announcement in
            guard announcement.number > number else { return true }
            guard announcement.number - number <= UInt64(ids.count) else { return false }
            if ids[Int(announcement.number - number) - 1] == announcement.id {
                last = max(last ?? 0, announcement.number)
            }
            return true
        }
        return last
    }
}
