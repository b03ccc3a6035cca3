"""The content types of a site as a product: marshmallow schemas, JSON Schema, OpenAPI, TypeScript, GraphQL, and what changes break readers.

Pure functions of the types' persisted objects and the locales. Knows no documents, no files and no wire.
"""
