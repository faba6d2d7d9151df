import Foundation
import StrataModel

/// The content of a field that was set or fetched: a copy, never the caller's object (B15).
enum FieldContent: Sendable {
    /// A value without references and assets, which need their names and files.
    case plain(FieldValue)
    case reference(CKReference)
    case references([CKReference])
    case asset(CKAsset)
    case assets([CKAsset])
    /// The reason why the value that was set cannot be saved (B270).
    case mistake(String)

    var isOfAssets: Bool {
        switch self {
        case .asset, .assets: true
        case .plain, .reference, .references, .mistake: false
        }
    }

    static func integer(_ number: some BinaryInteger) -> FieldContent {
        Int64(exactly: number).map { .plain(.int64($0)) }
            ?? .mistake("The number \(number) does not fit into a signed 64-bit integer.")
    }

    /// Creates a list from elements of one kind; integers among doubles become doubles.
    static func list(_ elements: [FieldContent]) -> FieldContent {
        switch elements.first {
        case nil: return .plain(.list(.empty))
        case .reference:
            let references = elements.compactMap { if case .reference(let one) = $0 { one } else { nil } }
            if references.count == elements.count { return .references(references) }
        case .asset:
            let assets = elements.compactMap { if case .asset(let one) = $0 { one } else { nil } }
            if assets.count == elements.count { return .assets(assets) }
        default:
            let values = elements.compactMap { if case .plain(let one) = $0 { one } else { nil } }
            if values.count == elements.count { return list(ofValues: values) }
        }
        for case .mistake(let reason) in elements { return .mistake(reason) }
        return .mistake("The elements of a list must be of one kind.")
    }

    private static func list(ofValues values: [FieldValue]) -> FieldContent {
        let kinds = Set(values.map(\.kind))
        var values = values
        if kinds == [.int64, .double] {
            values = values.map { if case .int64(let number) = $0 { .double(Double(number)) } else { $0 } }
        }
        do { return .plain(.list(try FieldList(values))) } catch {
            return .mistake("A list must contain values of one kind and no lists: \(error)")
        }
    }

    /// Creates the content of a stored value; `zone` returns the zones of its references.
    ///
    /// - Parameter assets: Holds the copies of the record's assets.
    init(_ value: FieldValue, _ assets: FetchedAssets? = nil, zone: (UInt64) -> CKRecordZoneID) {
        switch value {
        case .reference(let link): self = .reference(CKReference(link, zone(link.target.zone)))
        case .asset(let asset): self = .asset(CKAsset(stored: asset, assets?.copy(of: asset)))
        case .list(let list) where list.kind.element == .reference:
            self = .references(
                list.elements.compactMap { element in
                    if case .reference(let link) = element { CKReference(link, zone(link.target.zone)) } else { nil }
                })
        case .list(let list) where list.kind.element == .asset:
            self = .assets(
                list.elements.compactMap { element in
                    if case .asset(let asset) = element { CKAsset(stored: asset, assets?.copy(of: asset)) } else { nil }
                })
        default: self = .plain(value)
        }
    }

    /// A new object for the caller; nil if the value cannot be read.
    var object: (any RecordValue)? {
        switch self {
        case .plain(let value): value.object
        case .reference(let reference): reference
        case .references(let references): references
        case .asset(let asset): asset
        case .assets(let assets): assets
        case .mistake: nil
        }
    }
}

extension FieldValue {
    /// The value as CloudKit returns it. Numbers are `NSNumber`s, which cast to every number type that holds them
    /// exactly.
    fileprivate var object: (any RecordValue)? {
        switch self {
        case .string(let text): text
        case .int64(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let bytes): Data(bytes)
        case .location(let location): CLLocation(location)
        case .list(let list): list.object
        case .reference, .asset, .sealed: nil
        }
    }
}

extension FieldList {
    /// An array of one element type, so that a cast need not check each element.
    fileprivate var object: (any RecordValue)? {
        switch kind.element {
        case .string: elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        case .int64, .double: elements.compactMap { $0.object as? NSNumber }
        case .date: elements.compactMap { $0.object as? Date }
        case .data: elements.compactMap { $0.object as? Data }
        case .location: elements.compactMap { $0.object as? CLLocation }
        default: [String]()
        }
    }
}

extension CLLocation {
    fileprivate convenience init(_ location: FieldValue.Location) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: location.latitude, longitude: location.longitude),
            altitude: location.altitude, horizontalAccuracy: location.horizontalAccuracy,
            verticalAccuracy: location.verticalAccuracy, course: location.course, speed: location.speed,
            timestamp: Date(timeIntervalSinceReferenceDate: location.timestamp))
    }
}

extension CKReference {
    fileprivate convenience init(_ link: FieldValue.Reference, _ zone: CKRecordZoneID) {
        self.init(
            recordID: CKRecordID(recordName: link.target.name, zoneID: zone),
            action: link.action == .deleteSelf ? .deleteSelf : .none)
    }
}
