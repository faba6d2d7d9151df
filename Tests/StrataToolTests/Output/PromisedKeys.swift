import Foundation
import Testing

/// The keys that the tables of docs/reference/json.md promise of `--json`.
enum PromisedKeys {
    private typealias Keys = (all: Set<String>, always: Set<String>)

    /// Those of the first column below each heading; a key whose last cell says "always" must be there, unless it is
    /// below a heading of the fourth level, of one of several parts.
    private static let tables: [String: Keys] = {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        let path = root.joined(separator: "/") + "/docs/reference/json.md"
        let page = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        var rows: [String: [[Substring]]] = [:]
        var (heading, isPart) = ("", false)
        for line in page.split(separator: "\n") {
            if line.hasPrefix("#") { isPart = line.hasPrefix("####") }
            if line.hasPrefix("#"), !isPart { heading = String(line.drop { $0 == "#" || $0 == " " }) }
            if line.hasPrefix("| `") {
                rows[heading, default: []].append(line.split(separator: "|").dropLast(isPart ? 1 : 0))
            }
        }
        return rows.mapValues { rows in
            let keys = rows.map { row in row[0].filter { $0 != "`" && $0 != " " } }
            let always = zip(rows, keys).filter { $0.0.last?.contains("always") == true }.map { $0.1 }
            return (Set(keys), Set(always))
        }
    }()

    private static func keys(of heading: String) throws -> Keys {
        try #require(tables[heading], "the guide has a table of \(heading)")
    }

    static func expect(_ object: [String: Any], follows heading: String) throws {
        let (all, always) = try keys(of: heading)
        let keys = Set(object.keys)
        #expect(keys.isSubset(of: all), "\(heading): \(keys.subtracting(all)) is not documented")
        #expect(always.isSubset(of: keys), "\(heading): \(always.subtracting(keys)) is missing")
    }

    /// Whether an object has the keys of a table, and no others.
    static func follows(_ object: [String: Any], _ heading: String) throws -> Bool {
        let (all, always) = try keys(of: heading)
        return always.isSubset(of: object.keys) && Set(object.keys).isSubset(of: all)
    }

    /// True if the keys of an object are those of a table, or of an event with a patch.
    static func areKnown(_ object: [String: Any]) throws -> Bool {
        let (event, patch) = (try keys(of: "An event"), try keys(of: "A patch"))
        let isPatched = event.always.union(patch.always).isSubset(of: object.keys)
        return isPatched && Set(object.keys).isSubset(of: event.all.union(patch.all))
            || tables.values.contains { $0.always.isSubset(of: object.keys) && Set(object.keys).isSubset(of: $0.all) }
    }

    /// That each key of a table comes in one of the objects, but for some keys.
    static func expectAll(of heading: String, in objects: [[String: Any]], but others: Set<String> = []) throws {
        let seen = others.union(objects.flatMap(\.keys))
        let never = try keys(of: heading).all.subtracting(seen)
        #expect(never.isEmpty, "\(heading): \(never) never comes")
    }
}
