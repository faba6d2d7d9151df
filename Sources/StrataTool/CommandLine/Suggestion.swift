/// Finds the word that a user probably meant.
enum Suggestion {
    /// Returns the candidate with the fewest changed letters, if at most two fifths of them differ.
    static func closest(to word: String, among candidates: [String]) -> String? {
        let letters = Array(word.drop { $0 == "-" })
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let other = Array(candidate.drop { $0 == "-" })
            let distance = distance(letters, other)
            guard 5 * distance <= 2 * max(letters.count, other.count) else { continue }
            if distance < best?.distance ?? Int.max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// Counts the insertions, removals, replacements and swaps of neighbors that turn one word into the other.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
