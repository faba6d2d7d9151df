/// The measured cost of an operation, and its limit.
struct Guard {
    let operation: String
    let cost: Cost
    let measured: Double
    let limit: Double?

    enum Cost: String, CaseIterable {
        case allocations, retains, instructions
        case systemCalls = "system calls"
    }

    /// True if the limit holds. Instructions differ between processors, so that the limits may leave them out.
    var holds: Bool { limit.map { measured <= $0 && isCounted } ?? (cost == .instructions) }

    /// False if nothing was counted of a cost whose limit says that there is some.
    var isCounted: Bool { measured > 0 || limit.map { $0 <= 0.1 } ?? true }

    /// The limit for what was measured: a tenth more, and a little for operations that cost next to nothing.
    var suggestedLimit: Double { ((measured * 1.1 + 0.05) * 100).rounded(.up) / 100 }
}

/// The committed limits: a line for each operation and cost, with tabs between the columns.
struct GuardLimits {
    private var limits: [String: Double] = [:]

    init(reading text: String) throws {
        for (index, line) in text.split(separator: "\n").enumerated() where !line.hasPrefix("#") {
            let columns = line.split(separator: "\t").map(String.init)
            guard columns.count == 3, Guard.Cost(rawValue: columns[1]) != nil, let limit = Double(columns[2]) else {
                throw GuardError(message: "line \(index + 1) of the limits is not OPERATION, COST and LIMIT: \(line)")
            }
            limits["\(columns[0])\t\(columns[1])"] = limit
        }
    }

    subscript(operation: String, cost: Guard.Cost) -> Double? { limits["\(operation)\t\(cost.rawValue)"] }
}

struct GuardError: Error, CustomStringConvertible {
    var message: String
    var description: String { message }
}
