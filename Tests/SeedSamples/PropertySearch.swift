import CloudKit

/// Looks in one zone for properties of a town, oldest first, without the brochures.
public func propertySearch(in propertyZone: CKRecordZone) -> CKQueryOperation {
    let inTown = NSPredicate(format: "address CONTAINS[c] 'Cupertino'")

    let properties = CKQuery(recordType: "Property", predicate: inTown)
    properties.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: true)]

    let search = CKQueryOperation(query: properties)
    search.zoneID = propertyZone.zoneID
    search.desiredKeys = ["address", "ownerName", "salePrice"]
    return search
}
