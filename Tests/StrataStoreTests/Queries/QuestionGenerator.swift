import StrataModel
import StrataViews
import TestSupport

@testable import StrataQuery

/// Random queries that have something to find.
struct QuestionGenerator {
    var random: SeededGenerator
    /// Times that records have, in seconds since 2001.
    var times: [Double]
    var zones: [String]
    var userRecordNames: [String]
    /// Only what the service might accept.
    var isPlain = false

    mutating func query(maximumKeys: Int = 3) -> Query {
        let order = (0..<random.next(below: maximumKeys + 1)).map { _ in sortKey() }
        return Query(
            QueryWorld.types[random.next(below: 4) / 3], where: tree(depth: random.next(below: 3)), order: order,
            zone: random.next(below: 3) == 0 ? ZoneID(pick(zones)) : nil)
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[random.next(below: elements.count)]
    }

    private mutating func sortKey() -> SortKey {
        if random.next(below: 5) == 0 {
            let place = pick(QueryValues.places)
            return .distance(key: "p", latitude: place.latitude, longitude: place.longitude)
        }
        let keys =
            ["i", "j", "d", "s", "w", "t", "creationDate", "modificationDate"] + (isPlain ? [] : ["b", "zz", "r"])
        return .key(pick(keys), isAscending: random.next(below: 2) == 0)
    }

    mutating func tree(depth: Int) -> PredicateTree {
        switch random.next(below: depth > 0 ? 8 : 5) {
        case 0 where random.next(below: 3) == 0: return .constant(random.next(below: 4) > 0)
        case 5, 6: return .and((0...1 + random.next(below: 2)).map { _ in tree(depth: depth - 1) })
        case 7 where isPlain: return .not(tree(depth: 0))
        case 7:
            if random.next(below: 3) == 0 { return .not(tree(depth: depth - 1)) }
            return .or((0...1 + random.next(below: 2)).map { _ in tree(depth: depth - 1) })
        default: return .comparison(comparison())
        }
    }

    private mutating func comparison() -> PredicateComparison {
        switch random.next(below: 20) {
        case 0: return system()
        case 1: return PredicateComparison(left: .evaluatedObject, relation: .contains, right: .value(words()))
        case 2: return distance()
        case 3: return recordID()
        case 4, 5, 6: return ofList()
        case 7 where !isPlain: return odd()
        case 8 where !isPlain:
            let key = pick(QueryWorld.fields).name
            return PredicateComparison(left: .keyPath(key), relation: pick([.equal, .notEqual]), right: .value(.null))
        default: return ofField()
        }
    }

    private mutating func constant(_ kind: FieldKind) -> PredicateValue {
        let kind: FieldKind =
            random.next(below: 12) == 0 ? pick([.int64, .double, .string, .date, .data, .reference]) : kind.element
        switch kind {
        case .int64:
            return random.next(below: 4) == 0 ? .double(pick(QueryValues.doubles)) : .int64(pick(QueryValues.ints))
        case .double:
            return random.next(below: 4) == 0 ? .int64(pick(QueryValues.ints)) : .double(pick(QueryValues.doubles))
        case .string: return .string(pick(QueryValues.strings))
        case .date: return .date(pick(QueryValues.dates))
        case .data: return .data(pick(QueryValues.bytes))
        case .location:
            let place = pick(QueryValues.places)
            return .location(latitude: place.latitude, longitude: place.longitude)
        default: return reference(QueryValues.name(random.next(below: 14)))
        }
    }

    private mutating func reference(_ name: String) -> PredicateValue {
        .reference(.init(recordName: name, zoneName: pick(zones), ownerName: "__defaultOwner__"))
    }

    private mutating func words() -> PredicateValue {
        .string(pick(["red", "fox runs", "the", "APFEL", "äpfel red", "a", ""]))
    }

    private mutating func options(_ relation: PredicateComparison.Relation) -> PredicateComparison.Options {
        random.next(below: 4) > 0
            ? [] : pick([[.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive]])
    }

    private mutating func ofField() -> PredicateComparison {
        let scalars = QueryWorld.fields.filter { !$0.kind.isList && $0.kind != .location }
        let field = pick(scalars)
        var relations: [PredicateComparison.Relation] = [
            .equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .isIn,
        ]
        if field.kind == .string { relations += [.beginsWith, .beginsWith, .contains] }
        if field.kind == .string, !isPlain { relations += [.endsWith, .like, .matches, .tokenMatches] }
        let relation = pick(relations)
        let right: PredicateValue
        switch relation {
        case .between: right = .list([constant(field.kind), constant(field.kind)])
        case .isIn: right = .list((0..<random.next(below: 4)).map { _ in constant(field.kind) })
        case .like: right = .string(pick(["a*", "*p*", "?", "*", "ä*", "a?c"]))
        case .matches: right = .string(pick(["a.*", "[a-z]+", ".*fox.*", ""]))
        case .tokenMatches: right = words()
        case .beginsWith:
            right = .string(
                pick([
                    "", "a", "Ä", "red", QueryValues.longText, QueryValues.longText + "a", "e", "\u{0}",
                    String(repeating: "p", count: 150),
                ]))
        default: right = constant(field.kind)
        }
        let isText = field.kind == .string
        let isMirrored =
            random.next(below: 6) == 0 && [.equal, .notEqual, .less, .greater, .lessOrEqual].contains(relation)
        let (key, value) = (PredicateExpression.keyPath(field.name), PredicateExpression.value(right))
        return PredicateComparison(
            left: isMirrored ? value : key, relation: relation, options: isText ? options(relation) : [],
            right: isMirrored ? key : value)
    }

    private mutating func ofList() -> PredicateComparison {
        let field = pick(
            QueryWorld.fields.filter { $0.kind.isList || random.next(below: 8) == 0 && $0.kind != .location })
        let value = constant(field.kind)
        let key = PredicateExpression.keyPath(field.name)
        switch random.next(below: isPlain ? 5 : 9) {
        case 0: return PredicateComparison(left: key, relation: .contains, right: .value(value))
        case 1: return PredicateComparison(left: .value(value), relation: .isIn, right: key)
        case 2: return PredicateComparison(quantifier: .any, left: key, relation: .equal, right: .value(value))
        case 3:
            return PredicateComparison(
                quantifier: .any, left: .value(.list([value, constant(field.kind)])), relation: .equal, right: key)
        case 4:
            return PredicateComparison(
                quantifier: .any, left: key, relation: .isIn, right: .value(.list([value, constant(field.kind)])))
        case 5:
            return PredicateComparison(
                quantifier: .any, left: key, relation: .between, right: .value(.list([value, constant(field.kind)])))
        case 6:
            return PredicateComparison(
                quantifier: pick([.any, .all, .notAny]), left: key, relation: pick([.equal, .notEqual]),
                right: .value(.null))
        default:
            return PredicateComparison(
                quantifier: pick([.any, .all, .notAny, nil]), left: key,
                relation: pick([.equal, .notEqual, .less, .greaterOrEqual, .contains, .beginsWith]),
                right: .value(value))
        }
    }

    private mutating func system() -> PredicateComparison {
        let relations: [PredicateComparison.Relation] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
        ]
        if random.next(below: 2) == 0 {
            return PredicateComparison(
                left: .keyPath(pick(["creationDate", "___modTime", "modificationDate"])), relation: pick(relations),
                right: .value(.date(pick(times) + pick([0, 0, 0.001, -0.5]))))
        }
        if !isPlain, random.next(below: 4) == 0 {
            return PredicateComparison(
                left: .keyPath(pick(["creatorUserRecordID", "parent", "recordID", "creationDate"])),
                relation: pick([.equal, .notEqual]), right: .value(.null))
        }
        if random.next(below: 2) == 0 {
            let user = PredicateValue.reference(
                .init(
                    recordName: pick(userRecordNames), zoneName: "_defaultZone",
                    ownerName: "__defaultOwner__"))
            return PredicateComparison(
                left: .keyPath(pick(["creatorUserRecordID", "___modifiedBy"])), relation: pick([.equal, .notEqual]),
                right: .value(user))
        }
        return PredicateComparison(
            left: .keyPath("parent"), relation: pick([.equal, .notEqual, .equal]),
            right: .value(reference(QueryValues.name(random.next(below: 5)))))
    }

    private mutating func recordID() -> PredicateComparison {
        let names = (0...random.next(below: 4)).map { _ in QueryValues.name(random.next(below: 26)) }
        if random.next(below: 2) == 0 {
            return PredicateComparison(
                left: .keyPath("recordID"), relation: .isIn, right: .value(.list(names.map { reference($0) })))
        }
        return PredicateComparison(
            left: .keyPath("recordID"), relation: pick([.equal, .equal, .notEqual]), right: .value(reference(names[0])))
    }

    private mutating func distance() -> PredicateComparison {
        let place = pick(QueryValues.places)
        let location = PredicateExpression.value(.location(latitude: place.latitude, longitude: place.longitude))
        let operands =
            random.next(below: 2) == 0 ? [PredicateExpression.keyPath("p"), location] : [location, .keyPath("p")]
        let metres = PredicateExpression.value(
            pick([.double(0), .int64(2_000), .double(1e6), .double(2.1e7), .double(-1), .double(.infinity)]))
        let call = PredicateExpression.function("distanceToLocation:fromLocation:", operands)
        if random.next(below: 4) == 0 {
            return PredicateComparison(left: metres, relation: pick([.greater, .greaterOrEqual]), right: call)
        }
        return PredicateComparison(
            left: call, relation: pick(isPlain ? [.less, .lessOrEqual] : [.less, .lessOrEqual, .greater]), right: metres
        )
    }

    /// What no index answers.
    private mutating func odd() -> PredicateComparison {
        let number = PredicateExpression.value(.int64(pick([0, 1, 2])))
        switch random.next(below: 8) {
        case 0:
            return PredicateComparison(left: .keyPath("ls.@count"), relation: pick([.equal, .greater]), right: number)
        case 1:
            return PredicateComparison(
                left: .keyPath(pick(["r.i", "r.r.i", "parent.i"])), relation: pick([.equal, .less]), right: number)
        case 2:
            return PredicateComparison(
                quantifier: pick([.any, .all, .notAny]), left: .keyPath("lr.i"), relation: .less, right: number)
        case 3:
            return PredicateComparison(
                left: .function("add:to:", [.keyPath("i"), number]), relation: .greater, right: .keyPath("j"))
        case 4:
            return PredicateComparison(
                left: .keyPath("i"), relation: pick([.less, .equal]), right: .keyPath(pick(["j", "d"])))
        case 5:
            return PredicateComparison(
                left: .keyPath("zz"), relation: pick([.equal, .notEqual]), right: pick([number, .value(.null)]))
        case 6:
            return PredicateComparison(left: .keyPath("s"), relation: .isIn, right: .value(.string("abcdef red fox")))
        default: return PredicateComparison(left: .value(.string("a")), relation: .isIn, right: .keyPath("s"))
        }
    }
}
