public let below7 = 7
