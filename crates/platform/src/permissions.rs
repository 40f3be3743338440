//! That policies can name what the routes take: the catalogue of actions is `formwork-iam`'s.

use formwork_iam::is_known_action;

#[test]
fn every_route_of_ours_is_in_the_catalogue() {
    for route in crate::rest_routes() {
        for operation in route.operations() {
            let action = route.permission(operation);
            assert!(is_known_action(&action), "{action}");
        }
    }
}
