import StrataLog
import StrataStore

/// How a writing child and the one that checks its store work; passed as words `name=value`.
struct ChildSettings: Sendable {
    /// Where the store, acknowledgements and scratch files are.
    var folder = ""
    var store = ""
    var acknowledgements = ""
    var seed: UInt64 = 1
    var usesCloudKit = false
    var durability = Durability.commit
    /// The last request of each writer that is in the store.
    var numbers = [Int](repeating: 0, count: WritingRun.writerCount)
    /// What the shared counter was at the last check.
    var counter = 0
    var isClockWild = false
    /// Acknowledges before it saves: a bug, which checking must find.
    var isEarly = false
    /// Whether requests may fail because something was done to the system.
    var toleratesErrors = false
    /// Whether writers make a request again that found no room.
    var awaitsRoom = false
    var fileBytes: UInt64?
    var descriptors: UInt64?
    var addressSpace: UInt64?

    init() {}

    init(_ words: some Sequence<String>) {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { continue }
            set(parts[0], parts[1])
        }
    }

    private mutating func set(_ name: String, _ value: String) {
        switch name {
        case "folder": folder = value
        case "store": store = value
        case "acknowledgements": acknowledgements = value
        case "seed": seed = UInt64(value) ?? 1
        case "numbers": numbers = value.split(separator: ",").map { Int($0) ?? 0 }
        case "counter": counter = Int(value) ?? 0
        case "cloudkit": usesCloudKit = value == "1"
        case "wild": isClockWild = value == "1"
        case "early": isEarly = value == "1"
        case "awaits": awaitsRoom = value == "1"
        case "tolerant": toleratesErrors = value == "1"
        case "fsize": fileBytes = UInt64(value)
        case "nofile": descriptors = UInt64(value)
        case "as": addressSpace = UInt64(value)
        case "durability":
            durability =
                switch value {
                case "commit": .commit
                case "system": .system
                default: .interval(.milliseconds(Int(value) ?? 20))
                }
        default: break
        }
    }

    var words: [String] {
        let durability =
            switch durability {
            case .commit: "commit"
            case .system: "system"
            case .interval(let interval): "\(Int(interval / .milliseconds(1)))"
            }
        var words = [
            "folder=\(folder)", "store=\(store)", "acknowledgements=\(acknowledgements)", "seed=\(seed)",
            "numbers=\(numbers.map(String.init).joined(separator: ","))", "counter=\(counter)",
            "cloudkit=\(usesCloudKit ? 1 : 0)",
            "wild=\(isClockWild ? 1 : 0)", "early=\(isEarly ? 1 : 0)", "tolerant=\(toleratesErrors ? 1 : 0)",
            "durability=\(durability)", "awaits=\(awaitsRoom ? 1 : 0)",
        ]
        if let fileBytes { words.append("fsize=\(fileBytes)") }
        if let descriptors { words.append("nofile=\(descriptors)") }
        if let addressSpace { words.append("as=\(addressSpace)") }
        return words
    }

    /// Small segments and many states, so that whatever happens rarely happens often.
    var storeOptions: StoreOptions {
        var options = StoreOptions.service
        options.durability = durability
        if !usesCloudKit {
            options.segmentBytes = 128 << 10
            options.trees.generationBytes = 256 << 10
        }
        return options
    }
}
