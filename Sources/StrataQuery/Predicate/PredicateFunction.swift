/// The functions that predicates may call, by selector.
enum PredicateFunction {
    static let now = "now"
    static let cast = "CAST"
    static let distance = "distanceToLocation:fromLocation:"
    static let tokenize = "tokenize:using:"

    /// The arithmetic operators, by selector.
    static let arithmetic: [String: String] = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
    ]

    /// The selector of a function that may be called with or without its colons.
    static func selector(_ name: String) -> String {
        switch name {
        case "now:": now
        case "tokenize", "tokenize:": tokenize
        default: name
        }
    }
}

/// Constants that text can express only with the name of their type.
enum PredicateCast {
    static func cast(_ value: PredicateValue, to type: String) -> PredicateValue? {
        switch (type, value) {
        case ("NSDate", .int64), ("NSDate", .double): value.number.map(PredicateValue.date)
        case ("NSDate", .date): value
        case ("NSData", .string(let digits)): bytes(fromHex: digits).map(PredicateValue.data)
        case ("NSNumber", .int64), ("NSNumber", .double), ("NSDecimalNumber", .int64), ("NSDecimalNumber", .double):
            value
        case ("NSNumber", .string(let text)), ("NSDecimalNumber", .string(let text)):
            Int64(text).map(PredicateValue.int64) ?? Double(text).map(PredicateValue.double)
        case ("NSNumber", .date(let seconds)): .double(seconds)
        case ("NSString", .string): value
        case ("NSString", .int64(let number)): .string("\(number)")
        case ("NSString", .double(let number)): .string("\(number)")
        case ("CLLocation", .list(let parts)): location(parts)
        case ("CKReference", .list(let parts)): reference(parts)
        default: nil
        }
    }

    private static func location(_ parts: [PredicateValue]) -> PredicateValue? {
        guard parts.count == 2, let latitude = parts[0].number, let longitude = parts[1].number else { return nil }
        return .location(latitude: latitude, longitude: longitude)
    }

    private static func reference(_ parts: [PredicateValue]) -> PredicateValue? {
        let names = parts.compactMap { part -> String? in
            guard case .string(let name) = part else { return nil }
            return name
        }
        guard names.count == 3, parts.count == 3 else { return nil }
        return .reference(.init(recordName: names[0], zoneName: names[1], ownerName: names[2]))
    }

    private static func bytes(fromHex digits: String) -> [UInt8]? {
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
