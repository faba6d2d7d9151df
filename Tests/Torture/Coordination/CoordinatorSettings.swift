import Glibc

/// What the command line asks for.
struct CoordinatorSettings: Sendable {
    var minutes = 2.0
    var only: String?
    var seed: UInt64 = 0
    /// The first round of each campaign.
    var firstRound = 0
    var isJSON = false
    var isCanary = false
    var lanes = 2
    /// Where stores are made.
    var work = "/tmp/torture"
    /// The library that makes calls of the system fail; empty if there is none.
    var faultLibrary = ""

    /// Nil, with the reason on standard error, for words that cannot be understood.
    init?(_ words: [String]) {
        var generator = SystemRandomNumberGenerator()
        seed = generator.next() % 1_000_000
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--canary": isCanary = true
            default:
                guard let value = rest.popFirst(), set(word, value) else {
                    Telling.complain("cannot understand \(word)")
                    return nil
                }
            }
        }
    }

    private mutating func set(_ word: String, _ value: String) -> Bool {
        switch word {
        case "--minutes":
            guard let number = Double(value), number > 0 else { return false }
            minutes = number
        case "--only": only = value
        case "--seed":
            guard let number = UInt64(value) else { return false }
            seed = number
        case "--round":
            guard let number = Int(value) else { return false }
            firstRound = number
        case "--lanes":
            guard let number = Int(value), number > 0 else { return false }
            lanes = number
        case "--work": work = value
        case "--faults": faultLibrary = value
        default: return false
        }
        return true
    }
}
