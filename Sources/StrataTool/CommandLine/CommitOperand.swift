import StrataModel

/// A commit on a command line, given by its offset or counted from the end.
enum CommitOperand {
    case offset(UInt64)
    /// The last commit is 1.
    case fromEnd(UInt64)

    static let operand = Operand(
        name: "OFFSET",
        help: "the commit's offset, as 'strata log' prints it; last, HEAD or -1 for the last commit, -2 for the one "
            + "before it", mayBeNegative: true)

    init(_ text: String) throws(UsageError) {
        if ["last", "head"].contains(text.lowercased()) {
            self = .fromEnd(1)
        } else if text.hasPrefix("-"), let place = UInt64(text.dropFirst()), place > 0 {
            self = .fromEnd(place)
        } else {
            self = .offset(try Option.number("OFFSET", "", 1...Version.maximumOffset, help: "").convert(text))
        }
    }

    /// Returns the offset of the commit in a log that ends at `end`; 0 if it would come before the first commit.
    func offset(upTo end: UInt64) -> UInt64 {
        switch self {
        case .offset(let offset): offset
        case .fromEnd(let place): end + 1 - min(place, end + 1)
        }
    }
}
